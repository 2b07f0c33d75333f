import { z } from "zod";

/** The name of a server: any text that shows something. Whether a gateway can deploy it is `canDeploy`'s to say. */
export const EnvironmentName = z.string().regex(/\S/);
