#!/usr/bin/env node
import "../src/front-end.ts";
