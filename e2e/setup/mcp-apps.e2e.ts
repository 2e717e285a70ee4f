import { expect, test } from '../page/browser.ts'
import { card, chooseLocalServer, composer, say, status } from '../page/playground-page.ts'
import { serveClerk, serveShop } from '../page/shop.ts'

test('shows the app of a tool call in a frame that asks before it acts', async ({ page, context }) => {
  await using shop = await serveShop()
  await using model = await serveClerk()
  await page.goto('/')
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'clerk' })
  await page.getByTestId('model-button').click()
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await page.getByRole('textbox', { name: 'MCP server' }).fill(`${shop.url}/mcp`)
  await page.getByRole('button', { name: 'Add server' }).click()
  // The model does not see the tool that only the app may call.
  await expect(page.getByTestId('mcp-server').first()).toContainText('1 tool: cart')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await say(page, 'What is in the cart?')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')

  const app = card(page).frameLocator('iframe').frameLocator('iframe')
  await expect(app.locator('#title')).toHaveText('Cart of Ada')
  await expect(app.getByRole('listitem')).toHaveText(['apple', 'plum'])
  await expect(app.locator('#status')).toHaveText('no network')
  await expect(card(page).locator('iframe')).toHaveAttribute('sandbox', 'allow-scripts')

  await app.getByRole('button', { name: 'Add a pear' }).click()
  const asked = page.getByTestId('app-request')
  await expect(asked).toContainText('The app wants to call Add to the cart')
  await expect(asked).toContainText('"item": "pear"')
  await asked.getByRole('button', { name: 'Deny' }).click()
  await expect(app.locator('#status')).toContainText('denied')
  expect(shop.heard).toEqual(['cart'])
  await app.getByRole('button', { name: 'Add a pear' }).click()
  await asked.getByRole('button', { name: 'Approve' }).click()
  await expect(app.getByRole('listitem')).toHaveText(['apple', 'plum', 'pear'])
  expect(shop.heard).toEqual(['cart', 'add'])

  await app.getByRole('button', { name: 'Ask for a recipe' }).click()
  await expect(composer(page)).toHaveValue('A recipe with these, please.')
  await expect(page.getByTestId('message-user')).toHaveCount(1)
  await app.getByRole('button', { name: 'About pears' }).click()
  await expect(asked).toContainText(`${shop.url}/about`)
  if (process.env.PHI_SCREENSHOT !== undefined) await page.screenshot({ path: process.env.PHI_SCREENSHOT })
  await asked.getByRole('button', { name: 'Stay' }).click()
  await expect(app.locator('#status')).toContainText('did not open')
  expect(context.pages()).toHaveLength(1)

  // After a reload, the page reads the app again and shows it the stored result.
  await page.reload()
  await expect(app.locator('#title')).toHaveText('Cart of Ada')
  await expect(app.getByRole('listitem')).toHaveText(['apple', 'plum'])
  await app.getByRole('button', { name: 'Leave' }).click()
  await expect(app.locator('#title')).toHaveCount(0)
  // Neither the request nor the navigation has reached the server.
  expect(shop.heard).toEqual(['cart', 'add'])
})
