#!/usr/bin/env node
// Where the program begins in the package, whose files are JavaScript.
import "./early-signals.mjs";

await import("./main.ts");
