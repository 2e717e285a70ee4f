// Every shared test file, for workerd, which has no file system to discover them in. test/harness/shared-files.test.ts keeps it complete.
import './runtime.test.ts'
