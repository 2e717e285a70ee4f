import { Agent, type Model } from 'phi-core'
import { fetchMedia } from 'phi-core/models'

/** Asks any model about an image URL. If the provider does not fetch URLs, the agent does, from these hosts only. */
export async function describePicture(model: Model, url: string, hosts: readonly string[]): Promise<string> {
  const agent = new Agent({ model, resolveMedia: fetchMedia({ hosts }), requireMedia: true })
  const content = [
    { type: 'image' as const, mimeType: 'image/png', url },
    { type: 'text' as const, text: 'What does it show?' },
  ]
  return agent.prompt({ role: 'user', content }).text()
}
