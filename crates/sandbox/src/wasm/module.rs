use super::{WasmSandbox, host::Host, imports};
use crate::{Unenforced, wording};
use std::sync::OnceLock;
use wasmtime::{Config, Engine, ExternType, InstancePre, Module};

/// Number of bytes of a page, in which a module declares its memory.
const PAGE: u64 = 65_536;

/// Number of bytes of stack that a module may use.
const STACK: usize = 512 * 1024;

/// Compiled WebAssembly module, whose imports may all be given to it.
pub(super) struct Compiled {
    pub(super) sandbox: WasmSandbox,
    pub(super) instance: InstancePre<Host>,
    /// Bytes of the module as it was given, by which stored results are told apart from those of another module.
    pub(super) bytes: Vec<u8>,
}

impl Compiled {
    /// Compiles a module, and checks it: it is a command of WASI, its memory is not too large, and it may have its
    /// imports.
    pub(super) fn of(bytes: &[u8], sandbox: WasmSandbox) -> Result<Self, Unenforced> {
        let refused = |text: String| Err(Unenforced::new(text));
        for (name, value) in &sandbox.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return refused(wording::not_a_variable(name));
            }
        }
        let engine = engine()?;
        // `Module::from_binary` takes no text, whatever the features of wasmtime are.
        let module = match Module::from_binary(engine, bytes) {
            Ok(module) => module,
            Err(error) => return refused(wording::module_broken(&format!("{error:#}"))),
        };
        match module.get_export("_start") {
            Some(ExternType::Func(start))
                if start.params().len() == 0 && start.results().len() == 0 => {}
            _ => return refused(wording::NO_START.to_owned()),
        }
        let Some(ExternType::Memory(memory)) = module.get_export("memory") else {
            return refused(wording::NO_MEMORY.to_owned());
        };
        let wanted = memory.minimum().saturating_mul(PAGE);
        if wanted > sandbox.memory {
            return refused(wording::module_too_large(wanted, sandbox.memory));
        }
        for import in module.imports() {
            if let Some(why) = imports::refused(import.module(), import.name(), &sandbox) {
                return refused(why);
            }
        }
        let linker = imports::linker(engine).map_err(unfit)?;
        match linker.instantiate_pre(&module) {
            Ok(instance) => Ok(Compiled {
                sandbox,
                instance,
                bytes: bytes.to_owned(),
            }),
            Err(error) => refused(wording::module_broken(&format!("{error:#}"))),
        }
    }
}

fn unfit(error: wasmtime::Error) -> Unenforced {
    Unenforced::new(wording::no_wasm(&error))
}

/// Returns the engine that compiles and runs all modules of this process.
pub(super) fn engine() -> Result<&'static Engine, Unenforced> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    let made = ENGINE.get_or_init(|| {
        let mut config = Config::new();
        config.consume_fuel(true).epoch_interruption(true);
        config.max_wasm_stack(STACK);
        // One memory and no 64-bit addresses: one limit holds for all.
        config.wasm_multi_memory(false).wasm_memory64(false);
        // The same module and the same input give the same output.
        config
            .relaxed_simd_deterministic(true)
            .cranelift_nan_canonicalization(true);
        Engine::new(&config).map_err(|error| wording::no_wasm(&error))
    });
    made.as_ref().map_err(|why| Unenforced::new(why.clone()))
}
