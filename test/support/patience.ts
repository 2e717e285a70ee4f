/** How long a test waits for something that happens soon: as long as it takes on a busy machine. `expect.poll` has it everywhere. */
export const patient = { timeout: 100_000, interval: 20 }

// Taken before a test fakes the clock.
const { setTimeout: startRealTimer } = globalThis

/**
 * Resolves once `check` resolves with true. Leaves a faked clock alone: `expect.poll`, `vi.waitFor` and `vi.waitUntil` move it forward by
 * their interval at each try, and so fire timers that the test has not come to.
 */
export async function whileClockStands(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => startRealTimer(resolve, patient.interval))
}
