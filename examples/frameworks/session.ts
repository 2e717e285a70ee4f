import { imageContent, type PromptInput } from 'phi-core'
import { type ChatOptions, remoteSession } from 'phi-core/client'
import type { Tools } from './agent.ts'

/** The conversation of this tab: a reload finds it again, whatever it is at. Another tab joins it by its id behind `#`. */
sessionStorage.chat ??= location.hash.slice(1) || crypto.randomUUID()
sessionStorage.tab ??= crypto.randomUUID()
export const session = remoteSession({ url: '/agent', sessionId: sessionStorage.chat, clientId: sessionStorage.tab })

/** What the agent can have done in this page. */
session.tools<Pick<Tools, 'set_theme'>>({
  set_theme: ({ theme }) => {
    document.documentElement.dataset.theme = theme
    return { applied: theme }
  },
})

/** What a form says: words, and a picture where there is one, to the model that was picked. */
export async function said(form: FormData): Promise<[PromptInput, ChatOptions]> {
  const [words, picture, model] = ['message', 'picture', 'model'].map((name) => form.get(name))
  const pictures = picture instanceof File && picture.size > 0 ? [await imageContent(picture)] : []
  const content = [{ type: 'text' as const, text: String(words) }, ...pictures]
  return [[{ role: 'user', content, timestamp: Date.now() }], model === 'deep' ? { model } : {}]
}

/** A picture of an answer. One that has an address alone is not asked for: the server that has it would learn of the reader. */
export function addressOf({ mimeType, data = '' }: { mimeType: string; data?: string }): string {
  return `data:${mimeType};base64,${data}`
}
