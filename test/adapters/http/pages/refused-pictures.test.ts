import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { image, png } from '../../../support/pictures.ts'
import { type WireReply, WireServer } from '../../../support/wire-server.ts'
import { pageWorld, versions } from './page-world.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

const saying: WireReply = { turn: { text: ['Done.'] } }

/** A message of `useChat` with a picture. */
function withPicture(bytes: Buffer): { text: string; files: { type: 'file'; mediaType: string; url: string }[] } {
  return { text: 'What is it?', files: [{ type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${image(bytes).data}` }] }
}

describe.each(versions)('images in a chat of AI SDK %i', (version) => {
  it('rejects an image over the limit with advice and continues the chat', async () => {
    const { model, sent } = server.service('anthropic', saying)
    const world = await pageWorld(() => ({ model: model() }))
    const chat = world.chat(version)
    await chat.sendMessage(withPicture(png(8001, 1)))
    expect([chat.status, String(chat.error)]).toEqual(['error', expect.stringMatching(/8001 x 1 pixels.*Scale it down/)])
    await chat.sendMessage({ text: 'And now?' })
    expect([chat.status, chat.messages.at(-1)?.parts.at(-1)]).toMatchObject(['ready', { text: 'Done.' }])
    expect([sent.length, JSON.stringify(sent).includes('8001')]).toEqual([1, false])
    expect([world.unfinished, await world.stored()]).toEqual([[], [expect.anything(), expect.anything()]])
  })

  it('sends an image rejected by the provider only once', async () => {
    const bad = png(3, 3)
    const refuses = (body: Record<string, unknown>): WireReply =>
      JSON.stringify(body).includes(String(image(bad).data)) ? { status: 400, message: 'Could not process image' } : saying
    const { model, sent } = server.service('anthropic', refuses)
    const world = await pageWorld(() => ({ model: model() }))
    const chat = world.chat(version)
    await chat.sendMessage(withPicture(bad))
    expect([chat.status, sent.length]).toEqual(['ready', 2])
    await chat.sendMessage({ text: 'And now?' })
    expect([chat.status, sent.length]).toEqual(['ready', 3])
  })
})
