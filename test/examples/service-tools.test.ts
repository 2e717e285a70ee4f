import { expect, it } from 'vitest'
import { research } from '../../examples/recipes/content/service-tools.ts'

it("lists the pages found by the provider's web search", async () => {
  const citation = { type: 'web_search_result_location', url: 'https://example.org/tea', title: 'Tea', cited_text: 'Tea is a drink.' }
  const events = [
    { type: 'message_start', message: { id: 'm', content: [{ type: 'text', text: 'A drink.', citations: [citation, citation] }] } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]
  const fetch = async () =>
    new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })
  expect(await research({ apiKey: 'k', fetch }, 'Tea?')).toEqual({ text: 'A drink.', sources: ['https://example.org/tea'] })
})
