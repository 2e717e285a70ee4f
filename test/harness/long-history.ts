/** A long conversation, as a file that the playground imports. */
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { exportSession, withEvents } from '../../src/session.ts'

/** A conversation of `messages` messages by turns, recorded as the page records it. */
export async function longHistory(messages: number): Promise<string> {
  const store = withEvents(memorySessionStore(), { includeStreamingEvents: true })
  const text =
    'The **ice** drifts south, *slowly*:\n\n- no open water\n- two walruses, `-11 °C`\n\nThe readings were taken at eight, noon and six.'
  const model = scripted(() => ({ text }), { chunkSize: 40 })
  const agent = new Agent({ model, systemPrompt: 'You keep the logbook.', session: store, sessionId: 'long', captureTurnRequests: true })
  for (let asked = 0; asked < messages / 2; asked++) await agent.prompt(`What stands in the logbook of day ${asked + 1}?`).result
  await agent.close()
  return exportSession(store, 'long')
}
