/** How long a test waits for something that happens soon: as long as it takes on a busy machine. `expect.poll` has it everywhere. */
export const patient = { timeout: 100_000, interval: 20 }
