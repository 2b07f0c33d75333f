import { z } from "zod";

const YES = ["true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const ISO_TIME = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$/;

/**
 * The params of an extension with strings turned into what the shape declares (3-wire §ext, Conversion). A string that
 * doesn't fit stays one, so that checking it against the shape tells what was expected.
 */
export function convertParams(shape: z.ZodRawShape, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const declared = shape[name];
      return [name, typeof value === "string" && declared !== undefined ? convert(declared, value) : value];
    }),
  );
}

function convert(declared: z.core.$ZodType, text: string): unknown {
  if (declared instanceof z.ZodOptional || declared instanceof z.ZodNullable || declared instanceof z.ZodDefault) {
    return convert(declared.unwrap(), text);
  }
  if (declared instanceof z.ZodBoolean) return toBoolean(text);
  if (declared instanceof z.ZodNumber) return toNumber(text);
  if (declared instanceof z.ZodBigInt) return /^[+-]?\d+$/.test(text.trim()) ? BigInt(text.trim()) : text;
  if (declared instanceof z.ZodDate) return ISO_TIME.test(text.trim()) ? new Date(text.trim()) : text;
  if (declared instanceof z.ZodEnum) return toMember(declared.options, text);
  if (declared instanceof z.ZodLiteral) return toMember([...declared.values], text);
  return text;
}

/** A string is converted for a set of literals only when all its members are of one other type. */
function toMember(members: readonly unknown[], text: string): unknown {
  if (members.every((member) => typeof member === "number")) return toNumber(text);
  return members.every((member) => typeof member === "boolean") ? toBoolean(text) : text;
}

function toBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (YES.includes(word)) return true;
  return NO.includes(word) ? false : text;
}

function toNumber(text: string): unknown {
  return DECIMAL.test(text.trim()) ? Number(text) : text;
}
