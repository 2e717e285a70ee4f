import { expect, type Page, test } from 'playwright/test'
import { type ScriptedStep, scripted } from '../../testing/index.ts'
import { violations } from '../accessible/axe.ts'
import { chooseAgentServer, serveAgent } from '../page/agent-server.ts'
import { quickPage, say, status } from '../page/playground-page.ts'

const providerState = { api: 'scripted', model: 'scripted', payload: {} }

/** What services send that the demo has not: a call that waits for a person, a failure, a block that nobody knows, files that are documents. */
const asks: ScriptedStep = {
  text: 'May I?',
  blocks: [
    {
      type: 'serviceTool',
      id: 'mcp-1',
      name: 'mcp.docs.delete_page',
      input: { id: 'p1' },
      status: 'running',
      needsApproval: true,
      providerState,
    },
  ],
  stopReason: 'toolUse',
}
const strange: ScriptedStep = {
  text: 'As you say.',
  blocks: [
    {
      type: 'serviceTool',
      id: 'fetch-1',
      name: 'web_fetch',
      status: 'failed',
      error: { code: 'url_not_accessible', message: 'It is not there.' },
    },
    { type: 'opaque', kind: 'hologram' },
    { type: 'file', mimeType: 'text/html', name: 'page.html', data: btoa('<script>window.hacked = 1</script>') },
    { type: 'image', mimeType: 'image/svg+xml', data: btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked = 1"/>') },
    { type: 'file', mimeType: 'text/plain', name: 'far.txt', url: 'https://files.example/far.txt' },
  ],
}

/** An agent on a server of its own, and the page that talks to it. */
async function open(page: Page) {
  const model = scripted(({ messages }) => (messages.at(-1)?.role === 'toolResult' ? strange : asks))
  const server = await serveAgent(() => ({ model }), String(test.info().project.use.baseURL))
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(quickPage)
  await chooseAgentServer(page, server.url)
  return server
}

for (const [decision, after] of [
  ['Approve', 'allowed'],
  ['Deny', 'denied'],
] as const) {
  test(`requests approval for a hosted tool, also after a reload: ${decision}`, async ({ page }) => {
    await using _server = await open(page)
    await say(page, 'Delete it.')
    const tool = page.getByTestId('service-tool').first()
    await expect(tool).toHaveAttribute('data-status', 'pendingApproval')
    await page.reload()
    await expect(tool).toHaveAttribute('data-status', 'pendingApproval')
    await expect(tool).toContainText('"id": "p1"')
    expect(await violations(page)).toEqual([])
    await tool.getByRole('button', { name: decision }).click()
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    await expect(tool).toHaveAttribute('data-status', after)
  })
}

test('shows failures, unknown blocks and document files without executing any', async ({ page }) => {
  await using _server = await open(page)
  await say(page, 'Delete it.')
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  for (const _visit of ['live', 'reloaded']) {
    const answer = page.getByTestId('message-assistant').last()
    await expect(answer.getByTestId('service-tool')).toHaveAttribute('data-status', 'failed')
    await answer.getByTestId('service-tool').locator('summary').click()
    await expect(answer).toContainText('It is not there.')
    await expect(answer).toContainText('The service sent “hologram”, which this version does not know.')
    await expect(answer.getByTestId('media')).toHaveText([/page\.html/, /image\/svg\+xml/, /far\.txt.*files\.example/])
    await expect(answer.getByRole('link')).toHaveText(['Open'])
    await expect(answer.locator('img, svg:not(.icon), iframe, object, script')).toHaveCount(0)
    const saving = page.waitForEvent('download')
    await answer.getByRole('button', { name: 'Download page.html' }).click()
    expect((await saving).suggestedFilename()).toBe('page.html')
    expect(await page.evaluate(() => [Reflect.get(window, 'hacked'), location.pathname])).toEqual([undefined, '/'])
    expect(await violations(page)).toEqual([])
    await page.reload()
  }
})
