import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { Agent, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { spread } from './figures.ts'

const samples = 15
const model = scripted(() => ({ text: 'An answer of a few words, as they are.' }))

/** What the first page costs of a session that no process has in memory: ms, by turns. */
export async function firstPages(store: SessionStore): Promise<Record<string, string>> {
  for (const messages of [50, 5000]) {
    const agent = new Agent({ model, session: store, sessionId: `pages-${messages}` })
    for (let at = 0; at < messages / 2; at++) await agent.prompt('Say something.').result
    await agent.close()
  }
  const times: Record<number, number[]> = { 50: [], 5000: [] }
  for (let sample = -2; sample < samples; sample++) {
    for (const [messages, all] of Object.entries(times)) {
      const app = createAgentApp({ sessions: memoryLiveSessions({ store, agent: () => ({ model }) }), authorize: () => true })
      const from = performance.now()
      await (await app.request(`/sessions/pages-${messages}/history?limit=50`)).text()
      if (sample >= 0) all.push(performance.now() - from)
    }
  }
  const [short = [], long = []] = [times[50], times[5000]]
  return { '50, ms': spread(short), '5,000, ms': spread(long), ratio: spread(long.map((each, at) => each / (short[at] ?? 1))) }
}
