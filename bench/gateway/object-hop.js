// The least that a hop through a Durable Object does: the request goes on as it is, and so does the answer.
export class DeploymentObject {
  #env;

  constructor(_context, env) {
    this.#env = env;
  }

  fetch(request) {
    return fetch(new Request(this.#env.SERVER, request));
  }
}

export default { fetch: (request, env) => env.DEPLOYMENT.get(env.DEPLOYMENT.idFromName("one")).fetch(request) };
