/** Compiles and starts a WebAssembly module given in base64; it takes no imports. */
export function startModule(base64: string): WebAssembly.Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(base64, "base64"))).exports;
}
