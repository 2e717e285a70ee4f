import { Agent, defineTool, resumeAgent, type SessionStore } from 'phi-core'
import { scripted } from 'phi-core/testing'

/** A scripted model that reads only the last prompt. For a real model, use one line: `anthropic('claude-sonnet-4-6', { apiKey })`. */
const model = scripted(
  (request) => {
    const [last, asked] = [request.messages.at(-1), request.messages.findLast(({ role }) => role === 'user')]
    const words = asked?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? ''
    if (last?.role === 'toolResult') return { text: last.isError ? 'Then I will not.' : 'It is written down.' }
    if (/note/i.test(words)) return { text: 'I ask first.', toolCalls: [{ name: 'write_note', arguments: { text: words } }] }
    return { text: `You said: “${words}”. Ask me to note something.` }
  },
  { delayMs: 20, chunkSize: 6 },
)

const notes: string[] = []

/** The call stays pending until it is approved, even if the tab closes first. */
const writeNote = defineTool<{ text: string }>({
  name: 'write_note',
  description: 'Writes a note.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
  needsApproval: true,
  execute: async ({ text }) => `${notes.push(text)} notes`,
})

const settings = { model, tools: [writeNote], systemPrompt: 'You keep notes.' }

/** Opens the stored conversation with this id, or a new one if there is no id. */
export function openAgent(store: SessionStore, sessionId?: string): Promise<Agent> | Agent {
  return sessionId === undefined ? new Agent({ ...settings, session: store }) : resumeAgent(store, sessionId, settings)
}
