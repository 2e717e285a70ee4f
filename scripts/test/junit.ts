/** A failed test as the runner wrote it: where it stands, and what it is called. */
export interface Failure {
  file: string
  name: string
}

/** How many tests a runner reported. */
export interface Count {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
}

export const noTests = (): Count => ({ passed: 0, failed: 0, skipped: 0, failures: [] })

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const attribute = (tag: string, name: string): string =>
  (new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '').replace(
    /&(amp|lt|gt|quot|apos);/g,
    (_, entity: string) => entities[entity] ?? '',
  )

/** Counts the test cases of a JUnit report: the one format that vitest, Deno, Bun and Playwright all write. */
export function countJunit(xml: string): Count {
  const count = noTests()
  for (const [, tag = '', content = ''] of xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    if (/<(failure|error)\b/.test(content)) {
      count.failed++
      count.failures.push({ file: attribute(tag, 'classname'), name: attribute(tag, 'name') })
    } else if (/<skipped\b/.test(content)) count.skipped++
    else count.passed++
  }
  return count
}
