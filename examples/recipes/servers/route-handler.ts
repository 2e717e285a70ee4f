import { Agent, type Model } from 'phi-core'
import { runResponse } from 'phi-core/http'

/** A route handler as Next.js, SvelteKit and React Router take it: `export const POST = routeHandler(model)`. Ask first who it is. */
export function routeHandler(model: Model) {
  return async (request: Request): Promise<Response> => {
    const { prompt } = await request.json()
    return runResponse(new Agent({ model }).prompt(prompt))
  }
}
