import { Buffer } from 'node:buffer'
import type { Page } from 'playwright/test'
import { serve } from '../../test/harness/serve.ts'
import { awsFrame } from '../../test/harness/server/bedrock.ts'
import { expect, test } from '../page/browser.ts'
import { anyPage } from '../page/model-server.ts'
import { quickPage, say, status } from '../page/playground-page.ts'

/** A service on this machine: what it was asked, and how it answers. */
async function serviceOf(answer: (call: number) => Response) {
  const asked: string[] = []
  const service = await serve(async (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { headers: anyPage })
    return answer(asked.push(await request.text()) - 1)
  })
  return { url: service.url, asked, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

function events(...all: object[]): Response {
  const text = all.map((data) => `${'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`).join('')
  return new Response(text, { headers: { ...anyPage, 'content-type': 'text/event-stream' } })
}

/** Has the page call `service` with a key of the visitor, at `address`. */
async function choose(page: Page, service: string, address: string, model?: string): Promise<void> {
  await page.getByTestId('model-button').click()
  await page.getByText('Your own key').click()
  await page.locator('select', { has: page.locator('option[value="anthropic"]') }).selectOption(service)
  if (model !== undefined) await page.getByRole('combobox', { name: 'Model', exact: true }).fill(model)
  await page.getByLabel('Address').fill(address)
  await page.getByLabel('Key', { exact: true }).fill('key-of-the-visitor-0123456789')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

/** As long as what a session keeps beside its log. */
const report = `%PDF-1.4\n${'% '.repeat(40_000)}\n%%EOF\n`

async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('log').evaluate(
    (element, [name, text]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name, { type: 'application/pdf' }))
      element.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }))
    },
    [name, text] as const,
  )
}

const place = { start_page_number: 2, end_page_number: 3, document_index: 0, document_title: 'report.pdf', cited_text: 'It grew.' }
const ofAnthropic = () =>
  events(
    { type: 'message_start', message: { id: 'm1', model: 'claude-sonnet-4-6', content: [], usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { type: 'page_location', ...place } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It grew.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  )

function ofBedrock(): Response {
  const frame = (type: string, data: object) =>
    awsFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, JSON.stringify(data))
  const citation = {
    title: 'document-1',
    sourceContent: [{ text: 'It grew.' }],
    location: { documentPage: { documentIndex: 0, start: 2, end: 3 } },
  }
  const frames = [
    frame('messageStart', { role: 'assistant' }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'It grew.' } }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { citation } }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('messageStop', { stopReason: 'end_turn' }),
    frame('metadata', { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } }),
  ]
  return new Response(Buffer.concat(frames), { headers: { ...anyPage, 'content-type': 'application/vnd.amazon.eventstream' } })
}

for (const [service, answer] of [
  ['anthropic', ofAnthropic],
  ['bedrock', ofBedrock],
] as const) {
  test(`responds to a dropped PDF with page citations, also after reload: ${service}`, async ({ page }) => {
    await using served = await serviceOf(answer)
    await page.addInitScript(() => {
      window.open = (...given) => {
        Reflect.set(window, 'lastOpened', given[0])
        return null
      }
    })
    await page.goto(quickPage)
    await choose(page, service, served.url)
    await drop(page, 'report.pdf', report)
    await say(page, 'Did it grow?')
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    expect(served.asked[0]).toContain(Buffer.from(report).toString('base64'))
    expect(served.asked[0]).toMatch(/"citations":\{"enabled":true\}/)
    for (const _visit of ['first', 'reloaded']) {
      await expect(page.getByTestId('message-user').getByTestId('media')).toContainText('report.pdf')
      await expect(page.getByTestId('sources').getByRole('button')).toHaveText(['page 2'])
      await page.locator('a.cite').first().click()
      await expect.poll(() => page.evaluate(() => Reflect.get(window, 'lastOpened'))).toMatch(/^blob:.*#page=2$/)
      await page.reload()
    }
  })
}

/** A picture of one point, as long as what a session keeps beside its log: what stands behind its end is passed over. */
function point(color: string): string {
  return Buffer.concat([Buffer.from(color, 'base64'), Buffer.alloc(90_000)]).toString('base64')
}

const red = point('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC')
const green = point('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgaGAAAAEEAIFw9selAAAAAElFTkSuQmCC')

/** Gemini draws a red point, and then what it is told to make of it. */
function drawn(call: number): Response {
  const [data, signature] = call === 0 ? [red, 'c2lnUmVk'] : [green, 'c2lnR3JlZW4=']
  return events(
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Here:', thoughtSignature: `${signature.slice(0, 4)}VA==` }] } }] },
    { candidates: [{ content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data }, thoughtSignature: signature }] } }] },
    {
      candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
    },
  )
}

test('shows a Gemini picture and sends it back with signatures, also after reload', async ({ page }) => {
  await using served = await serviceOf(drawn)
  await page.goto(quickPage)
  await choose(page, 'google', served.url, 'gemini-3-pro-image-preview')
  const pictures = page.getByTestId('message-assistant').getByRole('img')
  await say(page, 'Draw a red point.')
  await expect(pictures).toHaveCount(1)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await page.reload()
  await expect(pictures).toHaveCount(1)
  await choose(page, 'google', served.url, 'gemini-3-pro-image-preview')
  await say(page, 'Make it green.')
  await expect(pictures).toHaveCount(2)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  const { contents } = JSON.parse(served.asked[1] ?? '{}')
  expect(contents[1]).toEqual({
    role: 'model',
    parts: [
      { text: 'Here:', thoughtSignature: 'c2lnVA==' },
      { inlineData: { mimeType: 'image/png', data: red }, thoughtSignature: 'c2lnUmVk' },
    ],
  })
  const shown = await pictures.evaluateAll((all) => all.map((each) => [Reflect.get(each, 'naturalWidth'), each.getAttribute('src')]))
  expect(shown.map(([width]) => width)).toEqual([1, 1])
  expect(new Set(shown.map(([, src]) => src)).size).toBe(2)
})
