import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { fallback } from '../../../src/models.ts'
import { agentOn, asking, bad, good, picky, saying, server, worse } from '../../support/picky-service.ts'

beforeAll(() => server.start())
afterAll(() => server.stop())

describe('a provider error unrelated to media', () => {
  const others: [number, string][] = [
    [400, "tools.0.custom.name: 'image' is not a valid name"],
    [400, "Invalid 'tools[0].function.name': 'resize image' is not supported"],
    [400, 'Unsupported parameter: image_detail is not supported with this model'],
    [400, 'Image generation is not supported in your region'],
    [400, 'The image quota of this organization is exceeded'],
    [400, 'messages.0.content.1.text: text content blocks must be non-empty. The image is fine, this is invalid'],
    [400, 'messages.0.content.0.image.cache_control: Extra inputs are not permitted, invalid'],
    [400, 'max_tokens: 999999 exceeds the maximum of image models'],
    [400, 'prompt is too long: 250000 tokens of text and image > 200000 maximum'],
    [400, 'The model `image-reader` is not valid'],
    [404, 'The model image-reader does not exist'],
    [401, 'Invalid image key'],
    [403, 'Image input is not supported for this account'],
    [501, 'Failed to process image'],
  ]

  it.each(others)('keeps all media after an unrelated error: %i %s', async (status, message) => {
    for (const wire of ['anthropic', 'openai'] as const) {
      const { agent, has, warnings } = agentOn(wire, [{ status, message }, saying])
      expect((await agent.prompt(asking(good)).result).status).toBe('error')
      await agent.prompt('And now?').result
      expect(has(good)).toEqual([true, true])
      expect(warnings.filter((warning) => warning.startsWith('requestAdjusted'))).toEqual([])
    }
  })

  it('keeps the error of a request without media', async () => {
    const { agent, sent } = agentOn('anthropic', [{ status: 400, message: 'Could not process image' }])
    await agent.prompt('Go.').result
    expect(sent).toHaveLength(1)
  })
})

describe('a request with required media', () => {
  it('fails instead of dropping required media', async () => {
    const { agent, sent } = agentOn('anthropic', [picky('anthropic', [bad], true)], { requireMedia: true })
    expect((await agent.prompt(asking(bad)).result).error?.message).toContain('Could not process image')
    expect(sent).toHaveLength(1)
  })

  it('tries the next fallback model with media first, and drops it for the last', async () => {
    const first = agentOn('openai', [picky('openai', [bad, worse], false)])
    const second = agentOn('anthropic', [picky('anthropic', [worse], false)])
    const agent = new Agent({ model: fallback([first.model(), second.model()], { coolDownMs: 0 }), logger: false })
    expect((await agent.prompt(asking(bad)).result).status).toBe('completed')
    expect([first.has(bad), second.has(bad)]).toEqual([[true], [true]])
    expect((await agent.prompt(asking(worse)).result).status).toBe('completed')
    expect([first.has(worse), second.has(worse)]).toEqual([
      [false, true],
      [false, true, false],
    ])
  })
})
