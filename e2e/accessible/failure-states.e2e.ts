import { expect, type Page, test } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { piece, streamed } from '../page/chunks.ts'
import { anyPage, serveModel } from '../page/model-server.ts'
import { card, chooseLocalServer, pick, quickPage, say } from '../page/playground-page.ts'
import { violations } from './axe.ts'

const begin = (page: Page) => page.getByRole('button', { name: 'New', exact: true }).click()

for (const colorScheme of ['light', 'dark'] as const) {
  test(`passes axe in failure states (${colorScheme})`, async ({ page, context }) => {
    let answer = () => streamed('', true)
    await using service = await serveModel(openai, () => answer())
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(quickPage)
    const look = (name: string, where = page) => test.step(name, async () => expect(await violations(where)).toEqual([]))

    await pick(page, 'Approval')
    await expect(card(page)).toHaveAttribute('data-status', 'pendingApproval')
    const other = await context.newPage()
    await other.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await other.goto(page.url())
    await expect(other.getByTestId('interference')).toBeVisible()
    await look('a conversation of another tab', other)
    await other.close()
    await begin(page)
    await expect(page.getByTestId('away')).toBeVisible()
    await look('another conversation needs somebody')

    await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
    await say(page, 'Are you there?')
    await expect(page.getByTestId('waiting')).toContainText('Stop')
    await look('a model that says nothing')

    await begin(page)
    answer = () =>
      new Response('{"error":{"message":"Slow down."}}', {
        status: 429,
        headers: { ...anyPage, 'retry-after': '3600', 'access-control-expose-headers': 'retry-after' },
      })
    await say(page, 'And now?')
    await expect(page.getByTestId('wait-until')).toBeVisible()
    await look('a time to wait')

    await begin(page)
    answer = () => streamed(piece({ role: 'assistant', content: 'Half an answer' }), true)
    await say(page, 'Once more.')
    await expect(page.getByText('Half an answer')).toBeVisible()
    await page.reload()
    await expect(page.getByTestId('broken-off')).toBeVisible()
    await page.getByLabel('File to import').setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('x') })
    await expect(page.getByTestId('notice')).toBeVisible()
    await look('an answer that was broken off, and a file that is none')
  })
}
