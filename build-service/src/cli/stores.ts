import { stateDirOf } from "../run/state-dir.ts";
import { openStore, recordsSetting } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import type { Io } from "./io.ts";

/** Opens the stores for reading while `read` runs. Makes nothing where nothing was ever stored. */
export async function reading<T>(io: Io, read: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(recordsSetting(io.settings()), stateDirOf(io.env), "read");
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Judges by what is stored, then writes: a store is opened for writing, and made, only when `check` has passed. */
export async function checkedWriting<Checked, T>(
  io: Io,
  check: (store: Store) => Promise<Checked>,
  write: (store: Store, checked: Checked) => Promise<T>,
): Promise<T> {
  const checked = await reading(io, check);
  const store = await openStore(recordsSetting(io.settings()), stateDirOf(io.env), "write");
  try {
    return await write(store, checked);
  } finally {
    await store.close();
  }
}
