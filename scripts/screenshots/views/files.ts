import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { useAgentServer } from '../services.ts'
import { click, ends, finish, play, press, say, settle, until } from '../steps.ts'
import type { View } from '../view.ts'

const picture = readFileSync('docs/images/playground-light.webp')
const pdf = Buffer.from(`%PDF-1.4\n${'% '.repeat(50_000)}\n%%EOF\n`)

/** Puts files to the draft, by the field that people pick them with. */
async function attach(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  await page.getByLabel('Files to attach').setInputFiles(files)
  await settle(page, 200)
}

const good = [
  { name: 'handbook of the first winter, with all tables.pdf', mimeType: 'application/pdf', buffer: pdf },
  { name: 'bearings.txt', mimeType: 'text/plain', buffer: Buffer.from('Noon: 84° 4′ N.') },
  { name: 'screen.webp', mimeType: 'image/webp', buffer: picture },
]
const bad = [
  { name: 'all.zip', mimeType: 'application/zip', buffer: Buffer.from('PK') },
  { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.from('') },
]

const providerState = { api: 'scripted', model: 'scripted', payload: {} }

/** What services send beside text, and what people send. */
export const files: readonly View[] = [
  {
    name: 'attached',
    make: (page) => attach(page, good),
  },
  { name: 'attachments-refused', make: (page) => attach(page, [...bad, ...good.slice(0, 1)]) },
  {
    name: 'attached-sent',
    async make(page) {
      await attach(page, good)
      await say(page, 'What is in these?')
      await ends(page)
    },
  },
  { name: 'pdf-citations', make: (page) => finish(page, 'A PDF with page citations') },
  {
    name: 'service-search',
    async make(page) {
      await finish(page, 'Search by the service')
      await click(page.getByTestId('service-tool').locator('summary'))
    },
  },
  {
    name: 'pictures',
    async make(page) {
      await finish(page, 'Picture')
      await finish(page, 'Edited picture')
    },
  },
  {
    name: 'math',
    async make(page) {
      await say(
        page,
        'The area is $\\pi r^2$, and \\(a_1\\) too: $$\\int_0^1 \\frac{x}{2}\\,dx = \\tfrac14$$ It costs $5 and then $10. This is no formula: $\\frac{1$. And a wide one: $$\\sum_{n=0}^{\\infty} \\frac{(-1)^n}{2n+1} = 1 - \\tfrac13 + \\tfrac15 - \\tfrac17 + \\tfrac19 - \\tfrac1{11} + \\tfrac1{13} - \\cdots = \\frac{\\pi}{4}, \\qquad e^{i\\pi} + 1 = 0$$',
      )
      await ends(page)
      await until(page, 'math')
      await settle(page)
    },
  },
  {
    name: 'marks',
    async make(page) {
      await finish(page, 'Text')
      await press(page, 'Good answer')
      await page.mouse.move(0, 0)
      await settle(page)
    },
  },
  {
    name: 'file-change',
    async make(page) {
      await play(page, 'Approval', '[data-status=pendingApproval]')
      await press(page, 'Approve')
      await ends(page)
      await click(page.locator('.tool > summary').last())
    },
  },
  {
    name: 'service-tool-asks',
    async make(page, made) {
      const block = {
        type: 'serviceTool',
        id: 'mcp-1',
        name: 'mcp.docs.delete_page',
        input: { id: 'p1', title: 'Log of the first winter' },
      } as const
      const model = scripted([
        { text: 'May I?', blocks: [{ ...block, status: 'running', needsApproval: true, providerState }], stopReason: 'toolUse' },
        { text: 'It is gone.' },
      ])
      await useAgentServer(page, made, () => ({ model }))
      await say(page, 'Delete the log of the first winter.')
      await until(page, '[data-testid=service-tool]')
      await settle(page)
    },
  },
  {
    name: 'strange-blocks',
    async make(page, made) {
      const model = scripted([
        {
          text: 'Here is what I have.',
          blocks: [
            {
              ...{ type: 'serviceTool', id: 'fetch-1', name: 'web_fetch', status: 'failed' },
              error: { code: 'url_not_accessible', message: 'It is not there.' },
            },
            { type: 'opaque', kind: 'hologram' },
            { type: 'file', mimeType: 'text/html', name: 'page.html', data: btoa('<p>Ice</p>') },
            { type: 'file', mimeType: 'text/plain', name: 'far.txt', url: 'https://files.example/far.txt' },
          ],
        },
      ])
      await useAgentServer(page, made, () => ({ model }))
      await say(page, 'Fetch the page.')
      await until(page, '[data-testid=service-tool]')
      await settle(page)
      await click(page.getByTestId('service-tool').locator('summary'))
    },
  },
  {
    name: 'shared-page',
    async make(page) {
      await finish(page, 'Thinking and tools')
      const downloading = page.waitForEvent('download')
      await page.getByLabel('Export as').selectOption('page')
      const file = `${tmpdir()}/phi-shared-page.html`
      await (await downloading).saveAs(file)
      await page.goto(pathToFileURL(file).href)
    },
  },
]
