import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { serve } from '../../../adapters/node/http/serve.ts'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent, type Content, memorySessionStore, resumeAgent } from '../../../src/index.ts'
import { agentOn, asking, type Body, bad, good, isIn, picky, refusedIn, saying, server } from '../../support/picky-service.ts'
import { image, png } from '../../support/pictures.ts'
import type { WireReply } from '../../support/wire-server.ts'

beforeAll(() => server.start())
afterAll(() => server.stop())

describe('remembered media rejections', () => {
  it('remembers rejected media after resuming a file session', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'refused-media-'))
    try {
      const large = image(png(2, 2, { extra: 100_000 }))
      const session = fileSessionStore(directory)
      const { agent, model, sent, has } = agentOn('anthropic', [picky('anthropic', [large], true)], { session, sessionId: 'one' })
      await agent.prompt(asking(large)).result
      await agent.close()
      const later = await resumeAgent(fileSessionStore(directory), 'one', { model: model() })
      expect((await later.prompt('And now?').result).status).toBe('completed')
      await later.close()
      expect([sent.length, has(large)]).toEqual([3, [true, false, false]])
      expect(refusedIn(later.messages)).toEqual([1, 0])
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })

  it('repairs a session that was stuck on rejected media', async () => {
    const store = memorySessionStore()
    const { agent, model, sent } = agentOn('openai', [{ status: 400, message: 'No.' }, picky('openai', [bad], true)], {
      session: store,
      sessionId: 'stuck',
    })
    expect((await agent.prompt(asking(bad)).result).status).toBe('error')
    await agent.close()
    const later = await resumeAgent(store, 'stuck', { model: model() })
    for (const prompt of ['One?', 'Two?']) expect((await later.prompt(prompt).result).status).toBe('completed')
    await later.close()
    expect(sent).toHaveLength(4)
  })

  it('remembers rejected media after compact()', async () => {
    for (const keepFirstTurns of [0, 1]) {
      const contextConfig = { maxContextTokens: 40_000, systemPromptTokens: 0, compaction: { keepFirstTurns, keepRecentTurns: 1 } }
      const { agent, sent, has } = agentOn('anthropic', [picky('anthropic', [bad], false)], { contextConfig })
      await agent.prompt(asking(bad)).result
      for (const word of ['one ', 'two ', 'three ']) await agent.prompt(word.repeat(8000)).result
      await agent.compact().result
      expect((await agent.prompt('And now?').result).error).toBeUndefined()
      expect((await agent.prompt('And then?').result).status).toBe('completed')
      expect(JSON.stringify(sent.at(-1))).not.toContain('two two two')
      expect(has(bad).at(-1)).toBe(false)
    }
  })

  it('remembers rejected media over HTTP', async () => {
    const { model, sent, has } = agentOn('anthropic', [picky('anthropic', [bad], true)])
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: model() }), logger: false })
    const app = await serve(createAgentApp({ sessions, authorize: () => true }), { port: 0 })
    const session = remoteSession({ url: app.url, sessionId: 'one' })
    try {
      expect((await session.prompt(asking(good, bad)).result).status).toBe('completed')
      expect((await session.prompt('And now?').result).status).toBe('completed')
      expect([has(bad), has(good), sent.length]).toEqual([[true, false, false], [true, true, true], 3])
      const refused = await session.prompt(asking(image(png(8001, 1)))).result
      expect(refused.error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining('Scale it down') })
      expect((await session.prompt('And then?').result).status).toBe('completed')
      expect(sent).toHaveLength(4)
    } finally {
      session.close()
      await sessions.close()
      await app[Symbol.asyncDispose]()
    }
  })

  it('drops media that a provider later rejects, such as an expired URL', async () => {
    const block: Content = { type: 'image', mimeType: 'image/png', url: 'https://pictures.example/signed.png' }
    let isGone = false
    const refuses = (body: Body): WireReply =>
      isGone && isIn(block, body) ? { status: 400, message: 'Unable to download the file. Please verify the URL and try again.' } : saying
    const { agent, sent, has } = agentOn('anthropic', [refuses])
    await agent.prompt(asking(good, block)).result
    isGone = true
    expect((await agent.prompt('And now?').result).status).toBe('completed')
    expect((await agent.prompt('And then?').result).status).toBe('completed')
    expect([sent.length, has(block), has(good).at(-1)]).toEqual([4, [true, true, false, false], true])
  })

  it('remembers rejections only for the same model', async () => {
    const { agent, has } = agentOn('anthropic', [picky('anthropic', [bad], true)])
    await agent.prompt(asking(bad)).result
    const { model, sent } = server.service('openai', saying)
    await new Agent({ model: model(), messages: [...agent.messages] }).prompt('And now?').result
    expect([isIn(bad, sent[0]), has(bad)]).toEqual([true, [true, false]])
  })
})
