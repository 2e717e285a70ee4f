import type { Context } from 'hono'

/** What stands behind the id, as it was sent: an id of a call may have a slash in it, and the routes of the session decode it themselves. */
export function restOf(c: Context): string {
  const depth = c.req.routePath.split('/').lastIndexOf(':id')
  return `/${new URL(c.req.url).pathname
    .split('/')
    .slice(depth + 1)
    .join('/')}`
}

/** The request as the routes of a session see it: what leads there is gone from its path. */
export async function requestWithin(request: Request, path: string): Promise<Request> {
  const url = new URL(request.url)
  url.pathname = path
  if (request.body !== undefined) return new Request(url, request)
  // Firefox has no stream of a body that it could take along.
  const { method, headers, signal } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, { method, headers, signal, ...(hasBody && { body: await request.arrayBuffer() }) })
}
