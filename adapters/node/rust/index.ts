// The entry `./adapters/node/rust`: session files as the Rust implementation keeps them. It needs zod 4.
export { deleteSession, listSessionIds, loadSession, loadSessionsForAgent, saveSession } from './ledger-files.ts'
