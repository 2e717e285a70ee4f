import { expect, test } from 'playwright/test'
import { SubAgentTool } from '../../src/agents.ts'
import { defineTool } from '../../src/index.ts'
import { scripted } from '../../testing/index.ts'
import { violations } from '../accessible/axe.ts'
import { chooseAgentServer, serveAgent } from '../page/agent-server.ts'
import { quickPage, say, status } from '../page/playground-page.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object' },
  needsApproval: true,
  execute: () => 'a bee',
})

/** An agent on a server, whose sub-agent works beside its runs and asks before it looks. */
function agent() {
  const child = scripted([{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'I have seen a bee.' }])
  const watcher = new SubAgentTool({ name: 'watcher', description: 'Watches.', model: child, tools: [look], background: true })
  const call = { toolCalls: [{ name: 'watcher', arguments: { task: 'Watch the meadow.' } }] }
  return { model: scripted([call, { text: 'It watches now.' }, { text: 'A bee was there.' }]), tools: [watcher] }
}

test('shows a background task running, with its approvals and report', async ({ page, baseURL }) => {
  await using server = await serveAgent(agent, String(baseURL))
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.goto(quickPage)
  await chooseAgentServer(page, server.url)

  await say(page, 'Have the meadow watched.')
  const card = page.getByTestId('tool-card').first()
  await expect(page.getByText('It watches now.')).toBeVisible()
  await expect(card).toContainText('watcher-1 in the background: running')
  expect(await violations(page)).toEqual([])
  await card.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('A bee was there.')).toBeVisible()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(card).toContainText(/watcher-1 in the background: done/)
  const report = page.locator('[data-report]')
  await expect(report).toContainText('I have seen a bee.')
  await expect(report.getByRole('button', { name: 'Edit' })).toHaveCount(0)
  expect(await violations(page)).toEqual([])
  await page.reload()
  await expect(report).toContainText('I have seen a bee.')
})
