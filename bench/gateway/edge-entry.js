import edge, { DeploymentObject as Served } from "../../gateway-worker/src/hosts/workers/index.ts";

// The Worker as it is, in raw workerd, which has neither KV nor R2: every deployment's record is there, made from one of the settings.
const withRecords = (env) => ({
  ...env,
  RECORDS: {
    get: async (key) => {
      const deployment_id = key.replace("deployment:", "");
      return JSON.stringify({ revision: 1, record: { ...JSON.parse(env.RECORD), deployment_id, revision: 1 } });
    },
  },
  STORE: { get: async () => null },
});

export class DeploymentObject extends Served {
  constructor(context, env) {
    super(context, withRecords(env));
  }
}

export default { fetch: (request, env, context) => edge.fetch(request, withRecords(env), context) };
