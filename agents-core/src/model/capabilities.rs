/// Abilities of a model, as data: [`Model::capabilities`](super::Model::capabilities) returns them.
///
/// What a model cannot do is refused before the request is sent, or done in another way: without tools of its own, a
/// model is offered tools [by prompt](super::prompted).
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Capabilities;
///
/// let small = Capabilities { tools: false, ..Capabilities::default() };
/// assert!(small.streaming && !small.images);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Is `true` if the model can call tools.
    pub tools: bool,
    /// Is `true` if the model can make several calls in one reply.
    pub parallel_calls: bool,
    /// Is `true` if the server can make the model's answer follow a JSON Schema.
    pub structured_output: bool,
    /// Is `true` if the model can stream its replies.
    pub streaming: bool,
    /// Is `true` if the model can read images in messages.
    pub images: bool,
    /// Is `true` if the model can read files, such as PDF documents.
    pub files: bool,
    /// Size of the model's window: the number of tokens that it can read and write in one request; `None` if the client
    /// does not know it.
    pub window: Option<u32>,
}

impl Default for Capabilities {
    /// Returns the abilities of a model that reads text: everything except images and files. The size of the window is
    /// not known.
    fn default() -> Self {
        Capabilities {
            tools: true,
            parallel_calls: true,
            structured_output: true,
            streaming: true,
            images: false,
            files: false,
            window: None,
        }
    }
}
