/** How many tests a runner reported. */
export interface Count {
  passed: number
  failed: number
  skipped: number
}

/** Counts the test cases of a JUnit report: the one format that vitest, Deno, Bun and Playwright all write. */
export function countJunit(xml: string): Count {
  const count: Count = { passed: 0, failed: 0, skipped: 0 }
  for (const [, content = ''] of xml.matchAll(/<testcase\b[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    if (/<(failure|error)\b/.test(content)) count.failed++
    else if (/<skipped\b/.test(content)) count.skipped++
    else count.passed++
  }
  return count
}
