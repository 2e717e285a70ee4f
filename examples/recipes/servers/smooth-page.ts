import type { ChatAgent } from 'phi-core/client'
import { createChat, smoothText } from 'phi-core/store'

/** Shows the newest message in whole words, at an even pace. Returns a function that stops it. */
export function showSmoothly(agent: ChatAgent, show: (text: string) => void): () => void {
  const chat = createChat(agent, { smooth: smoothText('word') })
  return chat.subscribe(() => {
    const parts = chat.getSnapshot().messages.at(-1)?.parts ?? []
    show(parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  })
}
