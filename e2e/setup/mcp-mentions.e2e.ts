import type { Page } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { violations } from '../accessible/axe.ts'
import { expect, main, test } from '../page/browser.ts'
import { type ModelServer, serveModel } from '../page/model-server.ts'
import { chooseLocalServer, composer, quickPage, say, status } from '../page/playground-page.ts'
import { serveResources } from '../page/resource-server.ts'

/** Opens the page with a model on this machine and the MCP server at `address`. */
async function open(page: Page, model: ModelServer, address: string): Promise<void> {
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'reader' })
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await page.getByRole('textbox', { name: 'MCP server' }).fill(address)
  await page.getByRole('button', { name: 'Add server' }).click()
  await expect(page.getByTestId('mcp-server')).toContainText('tool')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
}

const options = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
const asked = ({ requests }: ModelServer) => JSON.stringify(Object(requests.at(-1)?.body).messages)

test('completes a prompt of an MCP server with its arguments, and sends it', main, async ({ page }) => {
  await using resources = await serveResources()
  await using model = await serveModel(openai, () => ({ text: ['Hello.'] }))
  await open(page, model, resources.url)
  const field = composer(page)
  await field.pressSequentially('/')
  await expect(options(page)).toHaveCount(2)
  await expect(options(page).first()).toContainText('who [tone] · Greets somebody')
  await expect(page.getByRole('status').filter({ hasText: '2 suggestions.' })).toHaveCount(1)

  await field.press('ArrowUp')
  await field.press('ArrowDown')
  const id = await options(page).first().getAttribute('id')
  await expect(field).toHaveAttribute('aria-activedescendant', String(id))
  await expect(options(page).first()).toHaveAttribute('aria-selected', 'true')
  expect(await violations(page)).toEqual([])

  await field.press('Enter')
  await expect(field).toHaveValue(/^\/at-127-0-0-1-\d+:greet $/)
  await expect(options(page)).toHaveText(['who=A name', 'tone='])
  await field.press('Tab')
  await expect(options(page)).toHaveText(['who=Ada', 'who=Ann'])
  await options(page).nth(1).click()
  await expect(field).toHaveValue(/:greet who=Ann $/)
  await expect(field).toBeFocused()
  await field.pressSequentially('tone=dryly')
  // No option is active, so that Enter sends.
  await field.press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByTestId('message-user')).toContainText('Greet Ann dryly.')
  expect(asked(model)).toContain('Greet Ann dryly.')
  await expect(field).toHaveValue('')
  await expect(options(page)).toHaveCount(0)
})

test('completes a resource and a template, and attaches their texts', async ({ page }) => {
  await using resources = await serveResources()
  await using model = await serveModel(openai, () => ({ text: ['Seen.'] }))
  await open(page, model, resources.url)
  const field = composer(page)
  await field.pressSequentially('Compare @')
  await expect(options(page)).toHaveText([/^@at-127/])
  await field.press('Tab')
  await expect(options(page)).toHaveCount(3)
  await field.pressSequentially('wal')
  await expect(options(page)).toHaveText([/note:\/\/\/walrusNotes on the walrus$/])
  await field.press('Tab')
  await field.pressSequentially('with @')
  await field.press('Tab')
  await field.pressSequentially('day:///t')
  await expect(options(page)).toHaveText([/day:\/\/\/tuesday$/])
  await field.press('Tab')
  await field.press('Enter')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  expect(asked(model)).toMatch(
    /Compare @.*\[resource note:\/\/\/walrus\]\\nThe text of note:\/\/\/walrus\..*\[resource day:\/\/\/tuesday\]/,
  )

  const message = page.getByTestId('message-user')
  await expect(message).toContainText('[resource note:///walrus]')
  await message.hover()
  await message.getByRole('button', { name: 'Edit and send again' }).click()
  await expect(page.getByRole('textbox', { name: 'Edited message' })).toHaveValue(/^Compare @.*tuesday$/)
})

test('closes the suggestions with Escape without stopping, and reports what cannot be sent', async ({ page }) => {
  await using resources = await serveResources()
  await using model = await serveModel(openai, () => ({ text: ['Seen.'] }))
  await open(page, model, resources.url)
  const field = composer(page)
  await field.pressSequentially('/')
  await expect(options(page)).toHaveCount(2)
  await field.press('Escape')
  await expect(options(page)).toHaveCount(0)
  await expect(field).not.toHaveAttribute('aria-activedescendant')
  await expect(field).toHaveValue('/')
  const prefix = `at-${new URL(resources.url).host.replaceAll(/[.:]/g, '-')}`
  await say(page, `/${prefix}:greet`)
  await expect(page.getByRole('alert')).toContainText('needs who')
  await expect(field).toHaveValue(`/${prefix}:greet`)
  await say(page, `See @${prefix}:note:///lost`)
  await expect(page.getByRole('alert')).toContainText('Cannot attach')
  expect(model.requests).toHaveLength(0)
  await say(page, `Not @other:x or a/b`)
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
})
