import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { openedState } from '../../playground/src/state/conversation/opened-state.ts'
import { whyEnded } from '../../playground/src/state/log/why-ended.ts'
import { remoteSession } from '../../src/client.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it.each([undefined, 'Half of a'])('shows after a reload why the run failed, with the text %s', async (text) => {
  const model = scripted([{ ...(text !== undefined && { text }), fail: { code: 'auth', message: 'No such key.' } }])
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, retry: false }), logger: false })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  const open = () => {
    const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: async (request) => app.fetch(request), logger: false })
    onTestFinished(() => session.close())
    return session
  }
  await open().prompt('go').result
  const again = open()
  await again.load()
  const why = whyEnded(openedState(again, []))
  expect(why).toMatchObject({ word: 'Failed', text: 'No such key.', isFailure: true, remedies: ['retry'] })
})
