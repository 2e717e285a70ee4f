import { describe, expect, it } from 'vitest'
import { exploreBranches } from '../../src/agents.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseSnapshot } from '../../src/session.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'
import { longHistory } from '../support/long-history.ts'

describe('snapshot', () => {
  it.each(wires)('restores another agent from JSON, including compaction: %s', async (wire) => {
    const { tool } = addTool()
    const before = new Agent({
      model: fixtureModel(wire, 'tool').model,
      tools: [tool],
      messages: longHistory(20, 100),
      systemPrompt: 'be brief',
    })
    await before.compact().result
    await before.prompt('What is 2 + 3?').result
    const text = JSON.stringify(before.checkpoint())
    for (const secret of ['test-key', 'fixture-secret', 'http']) expect(text).not.toContain(secret)

    const { model, requests } = fixtureModel(wire, 'text')
    const after = new Agent({ model, tools: [tool] })
    after.restore(parseSnapshot(text))
    expect(after.messages).toEqual(before.messages)
    const { loopId, sessionId } = await after.send('And now?').result
    expect([sessionId, loopId === before.lastLoopId]).toEqual([before.sessionId, false])
    const [request = ''] = await requests()
    for (const text of ['be brief', 'sum 5', 'And now?', 'answer old-0;']) expect(request).toContain(text)
    expect(request).not.toContain('answer old-5;')
  })

  it('runs branches concurrently from one snapshot', async () => {
    const agent = new Agent({ model: scripted([{ text: 'start' }]) })
    await agent.prompt('go').result
    const branches = exploreBranches(
      agent,
      wires.map((wire) => ({ tag: wire, prompt: 'Say hello.', model: fixtureModel(wire, 'text').model })),
    )
    const results = await Promise.all(branches.map(({ run }) => run.result))
    expect(results.map(({ text }) => text)).toEqual(wires.map(() => 'Hello, world.'))
    expect(new Set(results.map(({ loopId }) => loopId)).size).toBe(wires.length)
    expect(agent.messages).toHaveLength(2)
  })

  it('rejects an invalid snapshot and reports the path', () => {
    const broken = { ...new Agent({ model: scripted([]) }).checkpoint(), sessionId: 7 }
    const why = expect.objectContaining({ code: 'invalidMessages', message: expect.stringContaining('snapshot.sessionId') })
    expect(() => parseSnapshot(JSON.stringify(broken))).toThrow(why)
    const ofAnother = { ...new Agent({ model: scripted([]) }).checkpoint(), version: 99 }
    expect(() => parseSnapshot(JSON.stringify(ofAnother))).toThrow(expect.objectContaining({ code: 'invalidSnapshot' }))
  })
})
