import { expect, test } from '../page/browser.ts'
import { quickPage, repeat } from '../page/playground-page.ts'

test('renders formulas but leaves amounts of money and invalid TeX as text', async ({ page }) => {
  const files: string[] = []
  page.on('request', (request) => files.push(new URL(request.url()).pathname))
  await page.goto(quickPage)
  await repeat(page, 'It costs $5 and then $10, or `$x$`.')
  const answers = page.getByTestId('message-assistant')
  await expect(answers.last()).toContainText('It costs $5 and then $10, or $x$')
  await expect(page.locator('math')).toHaveCount(0)
  expect(files.filter((path) => path.includes('math'))).toEqual([])

  await repeat(page, 'The area is $\\pi r^2$, and \\(a_1\\) too: $$\\int_0^1 \\frac{x}{2}\\,dx = \\tfrac14$$')
  await expect(answers.last().locator('math')).toHaveCount(3)
  await expect(answers.last().locator('math[display="block"] mfrac').first()).toBeVisible()
  await expect(answers.last().locator('annotation')).toHaveCount(0)
  await expect(answers.last()).not.toContainText('\\pi')

  await repeat(
    page,
    'No: $\\frac{1$, $\\href{javascript:alert(1)}{x}$, $\\includegraphics{https://example.org/x.png}$, $\\style{color:red}{y}$',
  )
  await expect(answers.last().locator('code').first()).toHaveText('$\\frac{1$')
  await expect(answers.last().locator('a, img, [href], [style]')).toHaveCount(0)
})
