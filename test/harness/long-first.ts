import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest: most of them start programs and wait for them. */
const long =
  /test\/(?:adapters\/(?:postgres|cloudflare\/session|node\/(?:cli|attacks)|mcp\/stdio|http\/(?:rolling|left))|adapters\/node\/(?:bash-tool|session\/(?:kill|list|import|file))|session\/(?:crash|adversarial)|loop\/abort|late-chunks|testing\/stream|providers\/\w+\/decode)/

/** Files that collect garbage to measure memory. In a process that has run a hundred other files this takes five times as long. */
const measuring = /test\/(?:stream\/event-log-memory|adapters\/http\/load|loop\/load|providers\/compose\/limiter-load)/

/**
 * Starts files that measure memory first, and then long ones, so that no core waits for the last of them. Without it vitest does so only where it
 * knows the times of an earlier run, which a fresh clone does not have.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (measuring.test(moduleId) ? 0 : long.test(moduleId) ? 1 : 2)
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
