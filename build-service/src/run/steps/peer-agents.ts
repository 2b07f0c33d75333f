import { z } from "zod";
import { Name } from "./field-schemas.ts";
import { stepOf } from "./step.ts";

const Peering = z.object({ source_agent_name: Name, peer_agent_names: z.array(Name) });

/** Tells deployed agents of one another. */
export const peerAgentsStep = stepOf({
  type: "peer_agents",
  fields: z.object({ peerings: z.array(Peering) }),
  entityRefs: [],
  check({ peerings }) {
    const sources = peerings.map(({ source_agent_name }) => source_agent_name);
    return peerings.flatMap(({ source_agent_name: source, peer_agent_names: peers }, index) => [
      ...(sources.indexOf(source) < index ? [`peerings[${index}]: ${JSON.stringify(source)} is listed twice: put its peers into one`] : []),
      ...(peers.includes(source) ? [`peerings[${index}]: ${JSON.stringify(source)} is listed as its own peer`] : []),
    ]);
  },
});
