#!/usr/bin/env node
// Committed rather than built: pnpm links a bin at install only if its file exists.
import '../dist/main.js';
