import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { addTool, eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'

describe('request capture', () => {
  it.each(wires)('captures the sent request once per turn without the key: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'tool')
    const agent = new Agent({ model, tools: [addTool().tool], systemPrompt: 'be brief', captureTurnRequests: { httpBody: true } })
    const events = await eventsOf(agent.prompt('What is 2 + 3?'))
    const captured = ofType(events, 'turnRequest')
    expect(captured.map(({ turnIndex }) => turnIndex)).toEqual([0, 1])
    expect(captured.map(({ request }) => JSON.stringify(JSON.parse(request.http?.body ?? '{}')))).toEqual(await requests())
    for (const { request } of captured) expect(request.provenance).toHaveLength(request.messages.length)
    expect(captured[1]?.request.provenance.map((each) => each.kind === 'loopTurn' && each.role)).toEqual([
      'userMessage',
      'toolCallRequest',
      'toolCallResult',
    ])
    for (const secret of ['test-key', 'fixture-secret']) expect(JSON.stringify(events)).not.toContain(secret)
  })
})
