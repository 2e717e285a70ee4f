import { defineTool } from '../../src/index.ts'
import { scripted } from '../../testing/index.ts'
import { chooseAgentServer, type SessionAgent, serveAgent } from '../page/agent-server.ts'
import { expect, main, test } from '../page/browser.ts'
import { card, finish, pick, quickPage, say, status, tab } from '../page/playground-page.ts'

test('updates the data of a tool in its card, lists it as events, and keeps it', main, async ({ page }) => {
  await page.goto('/?pace=3')
  await pick(page, 'Thinking and tools')
  const drift = card(page).getByTestId('data-part').filter({ hasText: 'drift' })
  await expect(drift).toContainText('{"bearings":1,')
  await expect(card(page).getByTestId('data-part')).toHaveCount(2)
  await expect(drift).toContainText('{"bearings":2,')

  await page.goto(quickPage)
  await finish(page, 'Thinking and tools')
  await tab(page, 'Events')
  await page.getByRole('searchbox', { name: 'Filter events' }).fill('data drift')
  await expect(page.getByTestId('event')).toHaveCount(5)
  await expect(page.getByTestId('event').last().locator('.gist')).toHaveText('drift {"bearings":5,"miles":2}')
  for (const reload of [() => Promise.resolve(), () => page.reload()]) {
    await reload()
    await card(page).locator('summary').first().click()
    // Transient data ends with its run.
    await expect(card(page).getByTestId('data-part')).toHaveText(['drift {"bearings":5,"miles":2}'])
  }
})

test('shows data parts of an agent server, also after a reload', async ({ page, baseURL }) => {
  const plot = defineTool({
    name: 'plot',
    description: 'Plots.',
    parameters: { type: 'object' },
    execute: (_args, ctx) => {
      ctx.data('chart', { points: Array.from({ length: 60 }, (_point, at) => at) }, { id: 'chart' })
      return 'plotted'
    },
  })
  const agent: SessionAgent = () => ({
    model: scripted([{ toolCalls: [{ name: 'plot', arguments: {} }] }, { text: 'There it is.' }]),
    tools: [plot],
    hooks: { beforeTurn: ({ data, turnIndex }) => data('turn', turnIndex, { id: `t${turnIndex}` }) },
  })
  await using server = await serveAgent(agent, new URL(String(baseURL)).origin)
  await page.goto('/')
  await chooseAgentServer(page, server.url)
  await say(page, 'Plot it.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  const parts = page.getByTestId('data-part')
  await expect(parts.filter({ hasText: 'turn' })).toHaveText(['turn 0', 'turn 1'])
  await card(page).locator('summary').first().click()
  const chart = parts.filter({ hasText: 'chart' })
  await chart.locator('summary').click()
  await expect(chart.locator('pre')).toContainText('59')
  await page.reload()
  await expect(parts.filter({ hasText: 'turn' })).toHaveText(['turn 0', 'turn 1'])
  await expect(chart).toHaveCount(1)
})
