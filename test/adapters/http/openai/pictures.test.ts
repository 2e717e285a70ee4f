import { describe, expect, it } from 'vitest'
import { Agent } from '../../../../src/index.ts'
import { openaiResponses } from '../../../../src/providers/openai-responses/index.ts'
import { served } from './served.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const model = 'helper'
const drawn = [{ text: 'Here.', blocks: [{ type: 'image' as const, data: png, mimeType: 'image/png' }] }]

describe('generated images', () => {
  it.each([false, true])('returns images as response items (stream: %s)', async (isStreamed) => {
    const { client } = served(drawn)
    const asked = { model, input: 'Draw.' }
    const response = isStreamed ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked)
    expect(response.output.map(({ type }) => type).toSorted()).toEqual(['image_generation_call', 'message'])
    expect(response.output.find(({ type }) => type === 'image_generation_call')).toMatchObject({ status: 'completed', result: png })
  })

  it.each([false, true])('returns images in a completion (stream: %s)', async (isStreamed) => {
    const { client } = served(drawn)
    const asked = { model, messages: [{ role: 'user' as const, content: 'Draw.' }] }
    const seen: unknown[] = []
    if (isStreamed)
      for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) seen.push(choices[0]?.delta)
    else seen.push((await client.chat.completions.create(asked)).choices[0]?.message)
    expect(JSON.stringify(seen)).toContain(`"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${png}"}}]`)
  })

  it('delivers images to an agent that uses this agent as its model', async () => {
    const { app } = served(drawn)
    const fetch = async (url: string | URL | Request, init?: RequestInit) => app.request(String(url), init)
    const outer = new Agent({
      model: openaiResponses(model, { apiKey: 'key-of-ada', baseUrl: 'http://127.0.0.1/v1', fetch, capabilities: { thinking: 'none' } }),
    })
    await outer.prompt('Draw.').result
    expect(JSON.stringify(outer.messages.at(-1))).toContain(png)
  })
})
