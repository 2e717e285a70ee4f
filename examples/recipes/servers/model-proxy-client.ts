import type { Model } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'

/** A model behind the proxy at `url`. The page receives the user's token, never the API key. */
export function modelBehind(url: string, token: string): Model {
  return anthropic('claude-sonnet-4-6', { baseUrl: `${url}/anthropic`, apiKey: token })
}
