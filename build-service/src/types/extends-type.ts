import type { AnyRecord } from "@agent-env/protocol";
import type { AcceptContext } from "./accept-context.ts";
import type { Config, EnvType, Fields, KeyKind, Load, RecordBody, TomlRef } from "./type.ts";

/** What a type has beside what it is built on. */
export type Extension = {
  readonly type: string;
  /** Keys beside the core's. */
  readonly tomlKeys?: Readonly<Record<string, KeyKind>>;
  readonly tomlRefs?: readonly TomlRef[];
  /** Judges its own keys, and may fill in what is left out. `fields` are the accepted ones, the core's and its own. */
  accept?(fields: Fields, config: Config, context: AcceptContext): Fields | Promise<Fields>;
  /** What its keys add to the record. */
  write?(fields: Fields, load: Load): RecordBody | Promise<RecordBody>;
  /** The values of its keys in a record. */
  read?(record: AnyRecord): Fields;
};

/**
 * A type built on `mcp_server`, `website` or `multi` (4-bundle §13.5): it is written, tracked and deployed like that one, and
 * has keys of its own. The core's keys come first. Throws a TypeError for a key that the core has.
 */
export function extendsType(core: EnvType, own: Extension): EnvType {
  if (core.writes !== "record") throw new TypeError(`${own.type}: ${core.type} is written from its folder, so nothing can be built on it`);
  const twice = Object.keys(own.tomlKeys ?? {}).filter((key) => key in core.tomlKeys);
  if (twice.length > 0) throw new TypeError(`${own.type}: ${twice.join(", ")}: is a key of ${core.type} already`);
  const { tomlKeys = {}, tomlRefs = [], accept, write, read } = own;
  return {
    ...core,
    type: own.type,
    tomlKeys: { ...core.tomlKeys, ...tomlKeys },
    tomlRefs: [...core.tomlRefs, ...tomlRefs],
    async accept(config, context) {
      const fields = await core.accept(config, context);
      return accept === undefined ? fields : accept(fields, config, context);
    },
    async write(fields, load) {
      const body = await core.write(fields, load);
      return write === undefined ? body : { ...body, ...(await write(fields, load)) };
    },
    read(record) {
      // The core's record says its own type.
      const fields = core.read({ ...record, type: core.type });
      return read === undefined ? fields : { ...fields, ...read(record) };
    },
  };
}
