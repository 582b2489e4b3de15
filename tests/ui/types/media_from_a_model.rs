use agents::{model::Media, prelude::*, tool};

/// Crops an image.
#[tool(none)]
async fn crop(
    /// The image.
    image: Media,
) -> Media {
    image
}

/// Stores images.
#[tool(writes)]
async fn store(
    /// The images.
    images: Vec<Media>,
) {
    drop(images);
}

/// You draw.
#[agent]
async fn draw(request: String) -> Media;

fn main() {}
