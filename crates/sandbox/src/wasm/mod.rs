//! WebAssembly modules, run by wasmtime in this process.

mod clock;
mod host;
mod imports;
mod module;
mod run;
mod sandbox;
mod tool;

pub use sandbox::WasmSandbox;
pub use tool::WasmTool;
