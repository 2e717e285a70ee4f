import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { type AgentMessage, memorySessionStore, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

describe('paginated session history', () => {
  /** A session with ten prompts and answers, which clients talk with. */
  async function long() {
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
    onTestFinished(() => sessions.close())
    const app = createAgentApp({ sessions, authorize: () => true })
    const asked: string[] = []
    const client = () => {
      const send = async (request: Request) => {
        asked.push(new URL(request.url).search)
        return app.fetch(request)
      }
      const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: send })
      onTestFinished(() => session.close())
      return session
    }
    const writing = client()
    for (let at = 0; at < 10; at++) await writing.prompt(`say ${at}`).result
    return { client, writing, asked }
  }
  const shown = (messages: readonly AgentMessage[]) => messages.map((message) => ('content' in message ? textOf(message.content) : ''))

  it('loads the latest messages first, and earlier ones on request', async () => {
    const { client, writing } = await long()
    const reading = client()
    expect(reading.hasEarlier).toBe(false)
    expect(shown(await reading.load({ limit: 4 }))).toEqual(['say 8', 'ok', 'say 9', 'ok'])
    expect([reading.hasEarlier, shown(reading.messages)]).toEqual([true, ['say 8', 'ok', 'say 9', 'ok']])
    expect(shown(await reading.loadEarlier({ limit: 3 }))).toEqual(['ok', 'say 7', 'ok'])
    await reading.prompt('say 10').result
    expect(shown(reading.messages)).toEqual(['ok', 'say 7', 'ok', 'say 8', 'ok', 'say 9', 'ok', 'say 10', 'ok'])
    expect((await reading.loadEarlier()).length).toBe(13)
    expect([reading.hasEarlier, await reading.loadEarlier()]).toEqual([false, []])
    await writing.load()
    expect(reading.messages).toEqual(writing.messages)
  })

  it('receives new events without replaying earlier messages', async () => {
    const { client, writing } = await long()
    const reading = client()
    await reading.load({ limit: 2 })
    const heard: string[] = []
    reading.subscribe((event) => {
      if (event.type === 'messageEnd') heard.push(...shown([event.message]))
    })
    await writing.prompt('say 10').result
    await expect.poll(() => heard).toEqual(['say 10', 'ok'])
    expect([shown(reading.messages), reading.hasEarlier]).toEqual([['say 9', 'ok', 'say 10', 'ok'], true])
  })

  it('rejects loading before a message that is no longer in the conversation', async () => {
    const { client, writing } = await long()
    const reading = client()
    const [first] = await reading.load({ limit: 4 })
    await writing.load()
    const [said] = writing.messages
    if (said?.id === undefined || first === undefined) throw new Error('Something was said.')
    await writing.editAndResend(said.id, 'anew').result
    await expect(reading.loadEarlier()).rejects.toMatchObject({ code: 'invalidCursor' })
    await expect(reading.load({ limit: 0 })).rejects.toMatchObject({ code: 'invalidBody' })
    expect(shown(await reading.load({ limit: 50 }))).toEqual(['anew', 'ok'])
  })
})
