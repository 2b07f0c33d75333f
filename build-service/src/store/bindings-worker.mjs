// The Worker inside Miniflare that has R2 and KV. `bindings-client.ts` asks it, on a port that every user of the machine can
// reach: it answers only who knows the secret of this start.

/**
 * @typedef {import("./bindings.ts").BindingCall} BindingCall
 * @typedef {{ readonly STORE: R2Bucket, readonly RECORDS: KVNamespace, readonly SECRET: string }} Env
 */

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   */
  async fetch(request, env) {
    if (!isSame(request.headers.get("authorization") ?? "", `Bearer ${env.SECRET}`)) return new Response(null, { status: 401 });
    try {
      /** @type {BindingCall} */
      const call = JSON.parse(decodeURIComponent(request.headers.get("call") ?? ""));
      return await answer(call, request, env);
    } catch (error) {
      return Response.json({ message: error instanceof Error ? error.message : String(error) }, { status: 500 });
    }
  },
};

/**
 * The result as JSON. Of an object that is read that is a header, and the body is the object's, which passes through as it is read.
 * @param {BindingCall} call
 * @param {Request} request
 * @param {Env} env
 */
async function answer(call, request, { STORE, RECORDS }) {
  switch (call.name) {
    case "bucket.get": {
      const found = await STORE.get(call.key);
      if (found === null) return Response.json(null);
      return new Response(found.body, { headers: { head: encodeURIComponent(JSON.stringify(headOf(found))) } });
    }
    case "bucket.head":
      return Response.json(headOf(await STORE.head(call.key)));
    case "bucket.put":
      return Response.json(headOf(await STORE.put(call.key, request.body ?? "", call.options)));
    case "bucket.delete":
      return done(STORE.delete(call.key));
    case "bucket.list": {
      const { objects, ...page } = await STORE.list(call.options);
      return Response.json({ ...page, objects: objects.map(headOf) });
    }
    case "namespace.get":
      return Response.json(await RECORDS.get(call.key));
    case "namespace.put":
      return done(RECORDS.put(call.key, await request.text()));
    case "namespace.delete":
      return done(RECORDS.delete(call.key));
    case "namespace.list":
      return Response.json(await RECORDS.list(call.options));
  }
}

/** @param {Promise<void>} call */
async function done(call) {
  await call;
  return Response.json(null);
}

/** @param {R2Object | null} object */
function headOf(object) {
  if (object === null) return null;
  const { key, size, etag, uploaded, customMetadata } = object;
  return { key, size, etag, uploaded, customMetadata };
}

/**
 * In a time that says nothing about where they differ.
 * @param {string} given
 * @param {string} expected
 */
function isSame(given, expected) {
  const a = new TextEncoder().encode(given);
  const b = new TextEncoder().encode(expected);
  return a.byteLength === b.byteLength && crypto.subtle.timingSafeEqual(a, b);
}
