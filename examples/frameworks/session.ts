import { imageContent, type PromptInput } from 'phi-core'
import { type ChatOptions, remoteSession } from 'phi-core/client'
import type { Tools } from './agent.ts'

/** The conversation of this tab, even after a reload. Another tab joins it if the URL ends with `#` and its id. */
sessionStorage.chat ??= location.hash.slice(1) || crypto.randomUUID()
sessionStorage.tab ??= crypto.randomUUID()
export const session = remoteSession({ url: '/agent', sessionId: sessionStorage.chat, clientId: sessionStorage.tab })

/** The client tools that this page runs for the agent. */
session.tools<Pick<Tools, 'set_theme'>>({
  set_theme: ({ theme }) => {
    document.documentElement.dataset.theme = theme
    return { applied: theme }
  },
})

/** Returns the message in a form, its image if any, and the model that the user picked. */
export async function readForm(form: FormData): Promise<[PromptInput, ChatOptions]> {
  const [text, picture, model] = ['message', 'picture', 'model'].map((name) => form.get(name))
  const images = picture instanceof File && picture.size > 0 ? [await imageContent(picture)] : []
  const content = [{ type: 'text' as const, text: String(text) }, ...images]
  return [[{ role: 'user', content, timestamp: Date.now() }], model === 'deep' ? { model } : {}]
}

/** Returns the URL of an image that contains its data. Images with a URL are not loaded, because a request would reveal the user to another server. */
export function addressOf({ mimeType, data = '' }: { mimeType: string; data?: string }): string {
  return `data:${mimeType};base64,${data}`
}
