import { checkBuiltIns } from "./pools.ts";

checkBuiltIns("scorer");
