import { z } from "zod";

/** One row of a verification (5-run §9.1). Unknown keys stay; null means the same as a missing key, as the original writes it. */
export const Row = z.looseObject({
  result: z.boolean(),
  id: z.string().nullish(),
  score: z.number().nullish(),
  weight: z.number().nullish(),
  justification: z.string().nullish(),
  description: z.string().nullish(),
  skipped: z.boolean().nullish(),
});
export type Row = z.infer<typeof Row>;

/** What a verifier has to return. */
export const Rows = z.array(Row);
