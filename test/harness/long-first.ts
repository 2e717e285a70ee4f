import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest: most of them start programs and wait for them. */
const long =
  /test\/(?:adapters\/(?:postgres|cloudflare\/session|node\/(?:cli|attacks)|mcp\/stdio|http\/(?:rolling|left))|adapters\/node\/(?:bash-tool|session\/(?:kill|list|import|file))|session\/(?:crash|adversarial)|loop\/abort|late-chunks|testing\/stream|providers\/\w+\/decode)/

/**
 * Starts long files first, so that no core waits for the last of them. Without it vitest does so only where it knows the times of an earlier run,
 * which a fresh clone does not have.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification): boolean => long.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
