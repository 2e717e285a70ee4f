import { Agent, type Model } from 'phi-core'
import { runResponse } from 'phi-core/http'

/** A route handler for Next.js, SvelteKit and React Router: `export const POST = routeHandler(model)`. Authorize the request first. */
export function routeHandler(model: Model) {
  return async (request: Request): Promise<Response> => {
    const { prompt } = await request.json()
    return runResponse(new Agent({ model }).prompt(prompt))
  }
}
